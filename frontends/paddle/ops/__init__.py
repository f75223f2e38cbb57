"""The operators of PaddlePaddle, by what they do."""
