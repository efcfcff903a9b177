// Package house holds the source to the rules of the code. Each rule states its reason.
package house
