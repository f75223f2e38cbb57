"""From n-dimensional vectors to those that the target's registers hold."""
