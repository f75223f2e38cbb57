// Every kind of location, on operations and block arguments.
"t.unknown"() : () -> () loc(unknown)
"t.file"() : () -> () loc("file.py":10:20)
"t.zero"() : () -> () loc("file.py":0:0)
"t.name"() : () -> () loc("name")
"t.name_child"() : () -> () loc("name"("file.py":1:2))
"t.name_nested"() : () -> () loc("a"("b"("c")))
"t.callsite"() : () -> () loc(callsite("callee" at "file.py":3:4))
"t.callsites"() : () -> () loc(callsite("a" at callsite("b" at "c")))
"t.callsite_left"() : () -> () loc(callsite(callsite("a" at "b") at "c"))
"t.fused"() : () -> () loc(fused["a", "file.py":1:2])
"t.fused_meta"() : () -> () loc(fused<"meta">["a", "b"])
"t.fused_dict"() : () -> () loc(fused<{a = 1 : i32, b}>["a"])
"t.fused_one"() : () -> () loc(fused["a"])
"t.fused_twice"() : () -> () loc(fused["a", "a", unknown])
"t.fused_nested"() : () -> () loc(fused["x", fused["y", "z"]])
"t.fused_none"() : () -> () loc(fused[unknown])
"t.range"() : () -> () loc("file.py":1:2 to 3:4)
"t.range_line"() : () -> () loc("file.py":1:2 to :4)
"t.escaped"() : () -> () loc("quote\"back\\slash":1:2)
"t.region"() ({
^bb0(%a: i32 loc("argument"), %b: i32 loc("file.py":7:8)):
  %0 = "t.inner"(%a) : (i32) -> i32 loc("inner")
  "t.end"(%b) : (i32) -> () loc("file.py":10:20)
}) : () -> () loc("file.py":1:1)

// -----

// Aliases, defined before and after their use.
#before = loc("before":1:1)
#nested = loc(callsite(#before at "x"))
"t.a"() : () -> () loc(#before)
"t.b"() : () -> () loc(#after)
"t.c"() : () -> () loc(#nested)
"t.d"() : () -> () loc("n"(#before))
"t.e"() : () -> () loc(fused[#before, #nested])
"t.f"() ({
^bb0(%a: i32 loc(#after)):
  "t.g"(%a) : (i32) -> () loc(#last)
}) : () -> () loc(#before)
#after = loc("after":2:2)
#last = loc(fused<"pass">[#after, #nested])

// -----

func.func @f(%a: i32 loc("a"), %b: f32 loc("file.py":1:2)) -> i32 {
  %0 = arith.addi %a, %a : i32 loc("sum")
  cf.br ^bb1(%0 : i32) loc("branch")
^bb1(%c: i32 loc("file.py":3:4)):
  return %c : i32 loc(callsite("return" at "file.py":3:4))
} loc("file.py":5:6)

// -----

module {
  func.func private @g(i32) loc("declared")
} loc("module")

// -----

"t.metadata"() : () -> () loc(fused<#t.scope<1>>["a", "b"])
"t.map"() {m = affine_map<(d0) -> (d0)>} : () -> () loc(fused<affine_map<(d0) -> (d0 + 1)>>["a"])
"t.attribute"() {l = loc("value":1:2), m = [loc("value":1:2), loc("other")]} : () -> () loc("value":1:2)

// -----

"t.fused"() : () -> () loc(fused<"m">[unknown])
"t.fused"() : () -> () loc(fused<"m">["a", fused<"m">["b", "c"], fused<"n">["d"], fused["e", "f"]])
"t.fused"() : () -> () loc(fused["a", fused["b", fused["a", "c"]]])
