// An average that is quantized is one division of the sum of its integers; one that is not, stays.
// RUN: nn-opt --use-integers %s | filecheck %s

// CHECK-LABEL: @fires
// CHECK:         %[[COUNT:.*]] = nn.constant dense<8.0{{.*}}> : tensor<f32>
// CHECK:         %[[SUM:.*]] = nn.sum_pool {{.*}} -> tensor<1x2x2x2xi32>
// CHECK:         %[[REAL:.*]] = nn.cast %[[SUM]]
// CHECK:         nn.div %[[REAL]], %[[COUNT]]
func.func @fires(%xi: tensor<1x2x4x4xui8>) -> tensor<1x2x2x2xf32> {
  %zero = nn.constant dense<3.0> : tensor<f32>
  %scale = nn.constant dense<0.1> : tensor<f32>
  %next = nn.constant dense<0.2> : tensor<f32>
  %0 = nn.cast %xi : (tensor<1x2x4x4xui8>) -> tensor<1x2x4x4xf32>
  %1 = nn.sub %0, %zero : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %x = nn.mul %1, %scale : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %2 = nn.avg_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>) -> tensor<1x2x2x2xf32>
  %y = nn.div %2, %next : (tensor<1x2x2x2xf32>, tensor<f32>) -> tensor<1x2x2x2xf32>
  return %y : tensor<1x2x2x2xf32>
}

// CHECK-LABEL: @fires_on_means
// CHECK:         nn.reduce_sum {{.*}} -> tensor<1x2xi32>
func.func @fires_on_means(%xi: tensor<1x2x4xi8>) -> tensor<1x2xf32> {
  %scale = nn.constant dense<0.1> : tensor<f32>
  %0 = nn.cast %xi : (tensor<1x2x4xi8>) -> tensor<1x2x4xf32>
  %x = nn.mul %0, %scale : (tensor<1x2x4xf32>, tensor<f32>) -> tensor<1x2x4xf32>
  %1 = nn.reduce_mean %x {axes = array<i64: 2>} : (tensor<1x2x4xf32>) -> tensor<1x2xf32>
  %y = nn.div %1, %scale : (tensor<1x2xf32>, tensor<f32>) -> tensor<1x2xf32>
  return %y : tensor<1x2xf32>
}

// Nobody knows here by what an average is divided, or of how many elements it is.
// CHECK-LABEL: @declines
// CHECK-NOT:     nn.sum_pool
// CHECK-NOT:     nn.reduce_sum
func.func @declines(%xi: tensor<1x2x?xi8>, %next: tensor<f32>) -> (tensor<1x2x?xf32>, tensor<1x2xf32>) {
  %scale = nn.constant dense<0.1> : tensor<f32>
  %0 = nn.cast %xi : (tensor<1x2x?xi8>) -> tensor<1x2x?xf32>
  %x = nn.mul %0, %scale : (tensor<1x2x?xf32>, tensor<f32>) -> tensor<1x2x?xf32>
  %1 = nn.avg_pool %x {kernel = array<i64: 2>} : (tensor<1x2x?xf32>) -> tensor<1x2x?xf32>
  %y = nn.div %1, %next : (tensor<1x2x?xf32>, tensor<f32>) -> tensor<1x2x?xf32>
  %2 = nn.reduce_mean %x {axes = array<i64: 2>} : (tensor<1x2x?xf32>) -> tensor<1x2xf32>
  %z = nn.div %2, %scale : (tensor<1x2xf32>, tensor<f32>) -> tensor<1x2xf32>
  return %y, %z : tensor<1x2x?xf32>, tensor<1x2xf32>
}
