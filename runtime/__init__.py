"""Running compiled models: in this process or an emulator, with their memory and threads."""
