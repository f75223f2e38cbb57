/* What of Apple's Foundation the host of Metal's names, as declarations. */
#pragma once
typedef signed char BOOL;
typedef unsigned long NSUInteger;
typedef long NSInteger;
#define YES ((BOOL)1)
#define NO ((BOOL)0)
#define nil ((id)0)
@protocol NSObject
- (instancetype)retain;
- (oneway void)release;
@end
__attribute__((objc_root_class)) @interface NSObject <NSObject>
+ (instancetype)alloc;
- (instancetype)init;
@end
@interface NSString : NSObject
+ (instancetype)stringWithUTF8String:(const char *)text;
- (const char *)UTF8String;
@end
@interface NSError : NSObject
- (NSString *)localizedDescription;
- (NSInteger)code;
@end
