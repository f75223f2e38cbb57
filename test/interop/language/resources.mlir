// Resources of dialects and of tools, with all kinds of values.
"t.a"() {a = dense_resource<blob1> : tensor<3xi64>, b = dense_resource<"quoted key"> : tensor<2xf32>, c = dense_resource<missing> : tensor<1xi8>} : () -> ()
{-#
  dialect_resources: {
    builtin: {
      blob1: "0x08000000010000000000000002000000000000000300000000000000",
      "quoted key": "0x040000000000803F00000040",
      unused: "0x0100000001"
    }
  },
  external_resources: {
    tool: {
      blob: "0x08000000010000000000000002000000000000000300000000000000",
      flag: true,
      off: false,
      text: "some string"
    },
    other.tool: {
      a: "b"
    }
  }
#-}

// -----

"t.a"() : () -> ()
{-# external_resources: {x: {y: "z"}} #-}

// -----

"t.a"() : () -> ()
{-#
#-}
