package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

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
		secrets := strings.Split(fields[2], ",")
		for i, secret := range secrets {
			secrets[i] = decode(secret)
		}
		headers := http.Header{}
		for _, header := range strings.Split(fields[3], ",") {
			if name, value, found := strings.Cut(header, ":"); found {
				headers.Add(name, decode(value))
			}
		}
		authentic, err := webhook.IsAuthentic(headers, []byte(decode(fields[1])), secrets, time.Unix(now, 0))
		if err != nil {
			fmt.Println("error")
		} else {
			fmt.Println(authentic)
		}
	}
}
