package protocol

import (
	"encoding/json"
	"reflect"

	"github.com/tidwall/gjson"
)

// ContextOperation is a context edit, with a tag: {"type": "setInclusion", "ids": [...], ...}.
type ContextOperation struct{ ContextOperationVariant }

// ContextOperationVariant is a pointer to one of the operations in contextEdits.
type ContextOperationVariant interface {
	// contextOperation returns the operation itself, also for the params that embed it.
	contextOperation() ContextOperationVariant
}

// ContextTargets selects items by their positions, by their ids, or by both. Unknown and repeated
// ones are ignored.
type ContextTargets struct {
	// Indices are current positions in the list of context/getItems.
	Indices []int64  `json:"indices,omitempty"`
	IDs     []string `json:"ids,omitempty"`
}

// ContextRequest has the members of every edit.
type ContextRequest struct {
	ThreadID string `json:"threadId"`
	// ExpectedRevision, if not null, must equal the revision of the thread. Otherwise the edit is
	// rejected with kind staleRevision.
	ExpectedRevision *int64 `json:"expectedRevision,omitempty"`
}

func (r ContextRequest) contextRequest() ContextRequest { return r }

// ContextEdited is the result of an operation, from which its response is made.
type ContextEdited struct {
	Revision int64
	// Changed is the number of items that changed, Ignored the number of targets that are no items.
	Changed, Ignored int
	Usage            ContextUsage
}

// contextEdit is a row of the table of operations.
type contextEdit struct {
	name, doc      string
	zero           ContextOperationVariant
	params, result reflect.Type
	decode         func(params json.RawMessage) (ContextRequest, ContextOperationVariant, error)
	respond        func(ContextOperationVariant, ContextEdited) any
}

// method returns the name of the method of an operation.
func (row *contextEdit) method() string { return "context/" + row.name }

// contextEditParams are params that embed a ContextRequest and an operation whose response is an R.
type contextEditParams[P, R any] interface {
	*P
	ContextOperationVariant
	contextResponse[R]
	contextRequest() ContextRequest
}

type contextResponse[R any] interface{ response(ContextEdited) R }

// editRow returns the row of the operation that the params P embed. It does not compile if R is not its response.
func editRow[P, R any, Params contextEditParams[P, R]](name, doc string) contextEdit {
	return contextEdit{
		name: name, doc: doc, zero: Params(new(P)).contextOperation(),
		params: reflect.TypeFor[P](), result: reflect.TypeFor[R](),
		decode: func(raw json.RawMessage) (ContextRequest, ContextOperationVariant, error) {
			p := Params(new(P))
			if err := decodeServed(raw, (*P)(p)); err != nil {
				return ContextRequest{}, nil, err
			}
			return p.contextRequest(), p.contextOperation(), nil
		},
		respond: func(o ContextOperationVariant, e ContextEdited) any { return o.(contextResponse[R]).response(e) },
	}
}

// RespondToEdit returns the response of the method of an operation.
func RespondToEdit(o ContextOperationVariant, e ContextEdited) any {
	for _, row := range contextEdits() {
		if reflect.TypeOf(row.zero) == reflect.TypeOf(o) {
			return row.respond(o, e)
		}
	}
	return nil
}

// ContextOperations returns a zero value of each operation.
func ContextOperations() (list []ContextOperationVariant) {
	for _, row := range contextEdits() {
		list = append(list, row.zero)
	}
	return list
}

// ContextMethod returns the name of the method of an operation.
func ContextMethod(o ContextOperationVariant) string {
	return "context/" + contextOperations.tagOf[reflect.TypeOf(o)]
}

var contextOperations = newVariants("type", contextVariants()...)

func contextVariants() (rows []variantRow[ContextOperationVariant]) {
	for _, row := range contextEdits() {
		rows = append(rows, variantRow[ContextOperationVariant]{row.name, row.zero})
	}
	return rows
}

// MarshalJSON writes the variant with its type.
func (o ContextOperation) MarshalJSON() ([]byte, error) {
	return contextOperations.encode(o.ContextOperationVariant)
}

// UnmarshalJSON accepts the known variants.
func (o *ContextOperation) UnmarshalJSON(b []byte) error {
	v, err := contextOperations.strict(gjson.ParseBytes(b))
	o.ContextOperationVariant = v
	return err
}
