@triton.jit
def tabs(a):
	if a:
		x = 1
        y = 2
	if a:
        	z = 3
	return a
