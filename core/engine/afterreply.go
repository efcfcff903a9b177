package engine

import "appserver/protocol"

// BackgroundThen does the same as Background. It calls the function that answer returns after the reply.
func (e *Engine) BackgroundThen(to protocol.Caller, answer func() (any, func(), error)) error {
	return e.goReader(to.Conn, func() {
		var then func()
		e.answer(to, func() (result any, err error) {
			result, then, err = answer()
			return result, err
		})
		if then != nil {
			then()
		}
	})
}
