"""The converters of StableHLO's operators, a module for each family."""
