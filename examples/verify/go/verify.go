// Package webhook verifies webhooks with the standard library of Go, 1.19 or later.
package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"regexp"
	"strconv"
	"strings"
)

var (
	// Exactly ten digits: otherwise digits could move between the timestamp and the body.
	timestampPattern = regexp.MustCompile(`^[0-9]{10}$`)
	servicePattern   = regexp.MustCompile(`^[0-9a-f]{64} ([0-9a-f]{64})?$`)
	// Without a dot: otherwise text could move between the id and the body.
	idPattern       = regexp.MustCompile(`^[-!-+/-~]{1,256}$`)
	standardPattern = regexp.MustCompile(`^v[0-9]+[a-z]*,[-!-+./-~]+( v[0-9]+[a-z]*,[-!-+./-~]+)*$`)
)

// IsAuthentic reports whether Deedwire signed the request with one of the secrets within the last tolerance seconds.
//
// header returns the value of a request header or "", as request.Header.Get does. body is the bytes as received, before
// any parsing. secrets is one secret, or both during a rotation; a malformed one is an error. now is in Unix seconds.
// Pass 300 as tolerance.
func IsAuthentic(header func(string) string, body []byte, secrets []string, now, tolerance int64) (bool, error) {
	keys := make([][]byte, len(secrets))
	for i, secret := range secrets {
		key, err := decodeSecret(secret)
		if err != nil {
			return false, err
		}
		keys[i] = key
	}
	serviceTime, service, next := header("X-Service-Webhook-Timestamp"), header("X-Service-Webhook-Signature"), header("X-Service-Webhook-Signature-Next")
	standardTime, standard, id := header("Webhook-Timestamp"), header("Webhook-Signature"), header("Webhook-Id")
	hasService, hasStandard := serviceTime+service+next != "", standardTime+standard+id != ""
	timestamp := serviceTime
	if !hasService {
		timestamp = standardTime
	}
	if hasStandard && standardTime != timestamp || !timestampPattern.MatchString(timestamp) {
		return false, nil
	}
	if signedAt, _ := strconv.ParseInt(timestamp, 10, 64); now-signedAt > tolerance || signedAt-now > tolerance {
		return false, nil
	}
	// Deedwire signs with both schemes. Each scheme that the request has must verify.
	var serviceMacs, standardMacs []string
	for i, secret := range secrets {
		serviceMacs = append(serviceMacs, hex.EncodeToString(mac([]byte(secret), timestamp+".", body)))
		standardMacs = append(standardMacs, "v1,"+base64.StdEncoding.EncodeToString(mac(keys[i], id+"."+timestamp+".", body)))
	}
	list := service + " " + next
	if hasService && !(servicePattern.MatchString(list) && matches(list, serviceMacs)) {
		return false, nil
	}
	return !hasStandard || idPattern.MatchString(id) && standardPattern.MatchString(standard) && matches(standard, standardMacs), nil
}

func mac(key []byte, prefix string, body []byte) []byte {
	hash := hmac.New(sha256.New, key)
	hash.Write([]byte(prefix))
	hash.Write(body)
	return hash.Sum(nil)
}

// Compares in constant time.
func matches(signatures string, expected []string) bool {
	for _, signature := range strings.Split(signatures, " ") {
		for _, mac := range expected {
			if hmac.Equal([]byte(signature), []byte(mac)) {
				return true
			}
		}
	}
	return false
}

func decodeSecret(secret string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || "whsec_"+base64.StdEncoding.EncodeToString(key) != secret || len(key) < 24 || len(key) > 64 {
		return nil, errors.New("a webhook secret is whsec_ and the base64 of 24 to 64 bytes, without white space")
	}
	return key, nil
}
