// Command bare does nothing: the floor of every Go program.
package main

func main() {}
