"""The layers of ncnn, by what they do."""
