// Package house checks the rules of the code. Each rule has a reason.
package house
