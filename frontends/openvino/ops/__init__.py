"""The converters of OpenVINO's operations, by topic."""
