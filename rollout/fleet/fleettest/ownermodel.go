package fleettest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"appserver/rollout/fleet"
	"appserver/test/sample"
)

// ownerModel is one thread with the nodes that compete for it.
type ownerModel struct {
	*rig
	id string
	// leases has the incarnation with a valid lease of each node.
	leases map[string]string
	// owner is the last result of a Create or Take, and isOwned is set until its Release.
	owner   fleet.Own
	isOwned bool
	// owns are all results, the stale ones as well.
	owns  []fleet.Own
	lines []string
}

// ownersEqualTheModel lets nodes take, append, release and restart at random, also with stale
// ownerships, and compares each result.
func ownersEqualTheModel(t *testing.T, r *rig) {
	sample.Check(t, func(t *rapid.T) {
		m := &ownerModel{rig: r, id: r.newID(), leases: map[string]string{}}
		m.join(t, r.a)
		own, err := r.Create(context.Background(), m.id, r.a, fleet.ContentOf(headOf("hello")))
		require.NoError(t, err)
		m.owner, m.isOwned, m.owns = own, true, []fleet.Own{own}
		t.Repeat(map[string]func(*rapid.T){
			"join": func(t *rapid.T) { m.join(t, anyNode(t)) }, "leave": m.leave, "expire": m.expire, "take": m.take,
			"append": m.append, "repeat": m.repeat, "release": m.release, "": m.check,
		})
		for node := range m.leases {
			m.rig.Expire(m.rig.t, node)
		}
		m.rig.join(r.a)
	})
}

func anyNode(t *rapid.T) fleet.Node {
	id := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "node")
	incarnation := "incarnation of " + id
	if rapid.IntRange(0, 3).Draw(t, "restarted") == 0 {
		incarnation = "second " + incarnation
	}
	return fleet.Node{ID: id, Incarnation: incarnation, Address: "wss://" + id}
}

func (m *ownerModel) hasLease(node, incarnation string) bool {
	return m.leases[node] == incarnation
}

func (m *ownerModel) join(t *rapid.T, n fleet.Node) {
	_, err := m.Join(context.Background(), n)
	if held, ok := m.leases[n.ID]; ok && held != n.Incarnation {
		require.ErrorIs(t, err, fleet.ErrNodeInUse)
		return
	}
	require.NoError(t, err)
	m.leases[n.ID] = n.Incarnation
}

func (m *ownerModel) leave(t *rapid.T) {
	n := anyNode(t)
	require.NoError(t, m.Leave(context.Background(), n))
	if m.hasLease(n.ID, n.Incarnation) {
		delete(m.leases, n.ID)
	}
}

func (m *ownerModel) expire(t *rapid.T) {
	node := anyNode(t).ID
	if _, ok := m.leases[node]; !ok {
		t.Skip("it has no lease")
	}
	m.Expire(m.rig.t, node)
	delete(m.leases, node)
}

func (m *ownerModel) take(t *rapid.T) {
	n := anyNode(t)
	own, err := m.Take(context.Background(), m.id, n)
	isSame := m.owner.Node == n.ID && m.owner.Incarnation == n.Incarnation
	var owned *fleet.OwnedError
	switch {
	case !m.hasLease(n.ID, n.Incarnation):
		require.ErrorIs(t, err, fleet.ErrNotJoined)
	case m.isOwned && !isSame && m.hasLease(m.owner.Node, m.owner.Incarnation):
		require.ErrorAs(t, err, &owned)
		require.Equal(t, m.owner.Node, owned.Node)
	default:
		require.NoError(t, err)
		want := fleet.Own{ID: m.id, Node: n.ID, Incarnation: n.Incarnation, Epoch: m.owner.Epoch + 1,
			Next: int64(len(m.lines))}
		require.Equal(t, want, own)
		m.owner, m.isOwned = own, true
		m.owns = append(m.owns, own)
	}
}

// isCurrent reports whether an ownership is valid.
func (m *ownerModel) isCurrent(o fleet.Own) bool { return m.isOwned && o.Epoch == m.owner.Epoch }

func (m *ownerModel) anyOwn(t *rapid.T) fleet.Own {
	if rapid.Bool().Draw(t, "latest") {
		return m.owns[len(m.owns)-1]
	}
	return rapid.SampledFrom(m.owns).Draw(t, "own")
}

func (m *ownerModel) append(t *rapid.T) {
	first := int64(max(0, len(m.lines)+rapid.IntRange(-2, 1).Draw(t, "distance")))
	var lines []string
	for range rapid.IntRange(0, 3).Draw(t, "lines") {
		lines = append(lines, fmt.Sprint(rapid.IntRange(0, 1).Draw(t, "line")))
	}
	m.appendLines(t, first, lines)
}

// repeat appends lines that are there.
func (m *ownerModel) repeat(t *rapid.T) {
	first := rapid.IntRange(0, len(m.lines)).Draw(t, "first")
	end := rapid.IntRange(first, len(m.lines)).Draw(t, "end")
	m.appendLines(t, int64(first), slices.Clone(m.lines[first:end]))
}

func (m *ownerModel) appendLines(t *rapid.T, first int64, lines []string) {
	own := m.anyOwn(t)
	err := m.Append(context.Background(), own, first, raw(lines...), nil)
	next, end := int64(len(m.lines)), first+int64(len(lines))
	var order *fleet.OrderError
	switch {
	case !m.isCurrent(own):
		require.ErrorIs(t, err, fleet.ErrFenced)
	case first == next:
		require.NoError(t, err)
		m.lines = append(m.lines, lines...)
	case len(lines) > 0 && end <= next && slices.Equal(m.lines[first:end], lines):
		require.NoError(t, err)
	default:
		require.True(t, errors.As(err, &order), "%v", err)
		require.Equal(t, next, order.Next)
	}
}

func (m *ownerModel) release(t *rapid.T) {
	own := m.anyOwn(t)
	err := m.Release(context.Background(), own)
	if !m.isCurrent(own) {
		require.ErrorIs(t, err, fleet.ErrFenced)
		return
	}
	require.NoError(t, err)
	m.isOwned = false
}

func (m *ownerModel) check(t *rapid.T) {
	place, err := m.Find(context.Background(), m.id)
	require.NoError(t, err)
	want := ""
	if m.isOwned && m.hasLease(m.owner.Node, m.owner.Incarnation) {
		want = m.owner.Node
	}
	require.Equal(t, want, place.Owner)
	require.Equal(t, int64(len(m.lines)), place.Next)
	require.Equal(t, m.lines, append([]string(nil), m.rig.lines(m.id)...))
}
