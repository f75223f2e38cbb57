"""dense_resource: data in the text's own section, or in the weights file beside the text."""

import subprocess

import numpy as np
import pytest
from nnc.ir.diagnostics import NncError, ParseError
from nnc.ir.syntax.parser import parse_module
from nnc.ir.weights_file import write_module
from safetensors.numpy import save_file

TEXT = 'module%s {\n  "t.a"() {v = dense_resource<w> : tensor<2xf32>} : () -> ()\n}\n'


def parse(text, folder=None):
    return parse_module(text, "m.mlir", allow_unregistered=True, resources=folder)


def value_in(module):
    return module.body_block.first.attributes["v"]


def test_data_in_the_text():
    section = '{-# dialect_resources: { builtin: { w: "0x040000000000803F00000040" } } #-}'
    for text in (TEXT % "" + section, section + TEXT % ""):
        assert value_in(parse(text)).to_numpy().tolist() == [1.0, 2.0]


def test_other_sections_are_read_over():
    section = """
    {-#
      external_resources: { mlir_reproducer: { verify_each: true, level: 5, x: { y: "z" } } },
      dialect_resources: { builtin: { "w": "0x040000000000803F00000040", other: "0x01000000" } }
    #-}
    """
    assert value_in(parse(TEXT % "" + section)).to_numpy().tolist() == [1.0, 2.0]


def test_section_is_written_and_read_by_mlir_opt(mlir_opt):
    array = np.array([1.5, -2.0], np.float32)
    hexadecimal = array.tobytes().hex().upper()
    section = f'{{-# dialect_resources: {{builtin: {{w: "0x04000000{hexadecimal}"}}}} #-}}'
    text = str(parse(TEXT % "" + section))
    command = [mlir_opt, "--allow-unregistered-dialect"]
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert run.stdout == f"{text}\n\n"
    assert value_in(parse(text)).to_numpy().tolist() == array.tolist()


def test_no_resources_no_section():
    assert "{-#" not in str(parse("module {}"))
    assert "{-#" not in str(parse(TEXT % ""))


def test_resources_of_the_text_stay_in_it(tmp_path):
    section = '{-# dialect_resources: { builtin: { w: "0x040000000000803F00000040" } } #-}'
    module = parse(TEXT % "" + section)
    write_module(module, tmp_path / "m.mlir")
    assert [path.name for path in tmp_path.iterdir()] == ["m.mlir"]
    again = parse((tmp_path / "m.mlir").read_text(), tmp_path)
    assert value_in(again).to_numpy().tolist() == [1.0, 2.0]


def test_weights_file_beside_the_text(tmp_path):
    save_file({"w": np.array([3, 4], np.float32)}, tmp_path / "weights.safetensors")
    text = TEXT % ' attributes {nn.weights_file = "weights.safetensors"}'
    assert value_in(parse(text, tmp_path)).to_numpy().tolist() == [3.0, 4.0]


def test_without_the_file_text_still_reads_and_prints(tmp_path):
    text = TEXT % ' attributes {nn.weights_file = "gone.safetensors"}'
    module = parse(text, tmp_path)
    assert str(module) + "\n" == text
    with pytest.raises(NncError, match="no data for dense_resource<w>"):
        value_in(module).to_numpy()


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../w.safetensors", "a/../../w", "", "..\\\\w", "C:w"]
)
def test_the_file_stays_in_the_folder(name, tmp_path):
    with pytest.raises(ParseError, match=r"nn\.weights_file") as caught:
        parse(TEXT % f' attributes {{nn.weights_file = "{name}"}}', tmp_path)
    assert caught.value.location.line == 1


def test_a_link_out_of_the_folder_is_refused(tmp_path):
    (tmp_path / "inside").mkdir()
    outside = tmp_path / "w.safetensors"
    save_file({"w": np.zeros(2, np.float32)}, outside)
    (tmp_path / "inside" / "w.safetensors").symlink_to(outside)
    text = TEXT % ' attributes {nn.weights_file = "w.safetensors"}'
    with pytest.raises(ParseError, match="leads out of"):
        parse(text, tmp_path / "inside")


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ('{-# dialect_resources: { builtin: { w: "0xZZ" } } #-}', "hexadecimal digits"),
        ('{-# dialect_resources: { builtin: { w: "0x04" } } #-}', "hexadecimal digits"),
        ('{-# dialect_resources: { builtin: { w: "0x040000000000803F" } } #-}', "needs 8 bytes"),
        ("{-# dialect_resources: { builtin: { w: 5 } } #-}", "string with the resource's data|hex"),
        ("{-# dialect_resources { } #-}", "expected ':'"),
        ("{-# dialect_resources: {", "expected|unbalanced"),
    ],
)
def test_faulty_sections(section, message):
    with pytest.raises(NncError, match=message):
        value_in(parse(TEXT % "" + section)).to_numpy()


def test_one_blob_for_each_key():
    text = '"t.a"() {v = [dense_resource<w> : tensor<2xf32>, dense_resource<w> : tensor<2xf32>]} '
    first, second = value_in(parse(text + ": () -> ()")).elements
    assert first == second
    assert first.blob is second.blob
