"""What tools/gpu-check is made of; needs Python's standard library only."""
