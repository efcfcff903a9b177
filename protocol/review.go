package protocol

import "github.com/tidwall/gjson"

// ReviewStartParams starts a turn that reviews changes.
type ReviewStartParams struct {
	ThreadID string       `json:"threadId"`
	Target   ReviewTarget `json:"target"`
	// Delivery is inline, the default, or detached to review in a fork of the thread.
	Delivery *string `json:"delivery,omitempty" oneof:"inline detached"`
}

// DeliveryDetached reviews in a thread of its own.
const DeliveryDetached = "detached"

// ReviewStartResponse has the turn of the review.
type ReviewStartResponse struct {
	Turn Turn `json:"turn"`
	// ReviewThreadID is the thread of the turn.
	ReviewThreadID string `json:"reviewThreadId"`
}

// ReviewTarget is the target of a review, with a tag: {"type": "uncommittedChanges"} and so on.
type ReviewTarget struct{ ReviewTargetVariant }

// ReviewTargetVariant is *ReviewUncommitted, *ReviewBranch, *ReviewCommit or
// *ReviewCustom.
type ReviewTargetVariant interface{ reviewTarget() }

// ReviewUncommitted selects staged, unstaged and untracked changes.
type ReviewUncommitted struct{}

// ReviewBranch selects the changes of the current branch relative to another one.
type ReviewBranch struct {
	Branch string `json:"branch"`
}

// ReviewCommit selects the changes of a commit.
type ReviewCommit struct {
	Sha string `json:"sha"`
	// Title is the subject of the commit, for people.
	Title *string `json:"title,omitempty"`
}

// ReviewCustom selects the target by instructions.
type ReviewCustom struct {
	Instructions string `json:"instructions"`
}

func (*ReviewUncommitted) reviewTarget() {}
func (*ReviewBranch) reviewTarget()      {}
func (*ReviewCommit) reviewTarget()      {}
func (*ReviewCustom) reviewTarget()      {}

var reviewTargets = newVariants("type",
	variantRow[ReviewTargetVariant]{"uncommittedChanges", &ReviewUncommitted{}},
	variantRow[ReviewTargetVariant]{"baseBranch", &ReviewBranch{}},
	variantRow[ReviewTargetVariant]{"commit", &ReviewCommit{}},
	variantRow[ReviewTargetVariant]{"custom", &ReviewCustom{}},
)

// MarshalJSON writes the variant with its type.
func (t ReviewTarget) MarshalJSON() ([]byte, error) {
	return reviewTargets.encode(t.ReviewTargetVariant)
}

// UnmarshalJSON accepts the known variants only.
func (t *ReviewTarget) UnmarshalJSON(b []byte) error { return t.decodeParams(gjson.ParseBytes(b)) }

func (t *ReviewTarget) decodeParams(in gjson.Result) error {
	v, err := reviewTargets.strict(in)
	t.ReviewTargetVariant = v
	return err
}
