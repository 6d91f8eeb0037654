package shell

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
)

// checkJSON refuses what is not one JSON value and nothing else.
func checkJSON(field string, data []byte) error {
	if json.Valid(data) {
		return nil
	}
	var v json.RawMessage
	return fieldError(field, "not valid JSON: %v", json.Unmarshal(data, &v))
}

// eachMember calls visit for every member of the object in data, which is valid
// JSON, in order. A name that comes twice is refused.
func eachMember(field string, data []byte, visit func(name string, raw []byte) error) error {
	if k := kind(data); k != "an object" {
		return fieldError(field, "a JSON object is needed, not %s", k)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.Token() // the opening brace
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		name, _ := t.(string)
		var raw json.RawMessage
		if err := errors.Join(err, dec.Decode(&raw)); err != nil {
			return fieldError(field, "not valid JSON: %v", err)
		}
		if seen[name] {
			return fieldError(quoteField(name), "given twice")
		}
		seen[name] = true
		if err := visit(name, raw); err != nil {
			return err
		}
	}
	return nil
}

// kind names what a JSON value is.
func kind(raw []byte) string {
	switch raw = bytes.TrimLeft(raw, " \t\r\n"); raw[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

func parseString(field string, raw []byte) (string, error) {
	if k := kind(raw); k != "a string" {
		return "", fieldError(field, "a string is needed, not %s", k)
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", fieldError(field, "not valid JSON: %v", err)
	}
	if loneSurrogate(raw) {
		return "", fieldError(field, "half of a surrogate pair")
	}
	return s, nil
}

func parseStrings(field string, raw []byte) ([]string, error) {
	if k := kind(raw); k != "an array" {
		return nil, fieldError(field, "an array of strings is needed, not %s", k)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.Token() // the opening bracket
	list := []string{}
	var total argumentSize
	for dec.More() {
		name := field + "[" + strconv.Itoa(len(list)) + "]"
		var item json.RawMessage
		if err := dec.Decode(&item); err != nil {
			return nil, fieldError(name, "not valid JSON: %v", err)
		}
		s, err := parseString(name, item)
		if err != nil {
			return nil, err
		}
		if err := total.add(field, len(s)); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

func parseNumber(field string, raw []byte) (float64, error) {
	if k := kind(raw); k != "a number" {
		return 0, fieldError(field, "a number is needed, not %s", k)
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return 0, fieldError(field, "%.40q is out of range", raw)
	}
	return n, nil
}

func parseBool(field string, raw []byte) (bool, error) {
	if k := kind(raw); k != "a boolean" {
		return false, fieldError(field, "true or false is needed, not %s", k)
	}
	return raw[0] == 't', nil
}

// loneSurrogate reports whether a valid JSON string escapes half of a surrogate
// pair, which decoding would silently replace.
func loneSurrogate(raw []byte) bool {
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		i++ // onto the escaped byte, which may be a backslash
		if raw[i] != 'u' {
			continue
		}
		switch u := escaped(raw, i); {
		case u >= 0xdc00 && u <= 0xdfff:
			return true
		case u >= 0xd800 && u <= 0xdbff:
			low := i + 6
			if low+4 >= len(raw) || raw[i+5] != '\\' || raw[low] != 'u' {
				return true
			}
			if u := escaped(raw, low); u < 0xdc00 || u > 0xdfff {
				return true
			}
			i = low
		}
	}
	return false
}

// escaped returns the code unit whose "u" is at raw[i].
func escaped(raw []byte, i int) uint64 {
	u, _ := strconv.ParseUint(string(raw[i+1:i+5]), 16, 16)
	return u
}
