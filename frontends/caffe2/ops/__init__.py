"""What each of Caffe2's operators stands for."""
