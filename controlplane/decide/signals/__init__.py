"""Which of several sources is believed, and what one sample of many replicas is."""
