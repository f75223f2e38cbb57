"""From the vectors of a group of threads to the part of them that each thread has, its share."""
