package engine

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"appserver/protocol"
)

// TestWrongStateIsAnInternalError: no file is the cause if a step finds its thread in a wrong state.
func TestWrongStateIsAnInternalError(t *testing.T) {
	require.Equal(t, protocol.KindInternal, errStorage(errFault).Data.Kind)
	require.Equal(t, protocol.KindStorage, errStorage(errors.New("disk full")).Data.Kind)
}
