"""What tests of several folders build worlds with: sessions played beside the simulator in this process."""
