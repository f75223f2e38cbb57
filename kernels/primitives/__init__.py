"""What a schedule can ask for."""
