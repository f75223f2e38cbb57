"""What each of Caffe's layers stands for."""
