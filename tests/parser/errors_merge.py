import x
<<<<<<< HEAD
A = f(1,
||||||| base
B = 1
=======
A = 2
>>>>>>> b
@triton.jit
def k(x):
    y = (1,
<<<<<<< HEAD
     2,
=======
     3,
>>>>>>> b
     4)
    z = """
=======
    """
print "not told, since nobody knows which lines are meant"
=======
