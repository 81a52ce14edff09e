"""What an operation is: who asks for it, its parameters and schemas, what is wrong with them."""
