"""The converters of PaddlePaddle's operators, by topic."""
