package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"os"
	"strconv"
	"strings"

	"verify/webhook"
)

func decode(encoded string) string {
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		panic(err)
	}
	return string(decoded)
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		now, _ := strconv.ParseInt(fields[0], 10, 64)
		tolerance, _ := strconv.ParseInt(fields[1], 10, 64)
		secrets := strings.Split(fields[3], ",")
		for i, secret := range secrets {
			secrets[i] = decode(secret)
		}
		headers := map[string]string{}
		for _, header := range strings.Split(fields[4], ",") {
			if name, value, found := strings.Cut(header, ":"); found {
				headers[name] = decode(value)
			}
		}
		get := func(name string) string { return headers[strings.ToLower(name)] }
		authentic, err := webhook.IsAuthentic(get, []byte(decode(fields[2])), secrets, now, tolerance)
		if err != nil {
			fmt.Println("error")
		} else {
			fmt.Println(authentic)
		}
	}
}
