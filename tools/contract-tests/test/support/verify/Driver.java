import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

public final class Driver {
    public static void main(String[] arguments) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] fields = line.split("\t", -1);
            Map<String, String> headers = new HashMap<>();
            for (String header : fields[3].split(",")) {
                String[] parts = header.split(":", -1);
                if (parts.length == 2) headers.put(parts[0], text(parts[1]));
            }
            byte[] body = Base64.getDecoder().decode(fields[1]);
            List<String> secrets = Arrays.stream(fields[2].split(",", -1)).map(Driver::text).collect(Collectors.toList());
            try {
                System.out.println(WebhookVerifier.isAuthentic(
                        headers.get("webhook-id"), headers.get("webhook-timestamp"), headers.get("webhook-signature"),
                        body, secrets, Long.parseLong(fields[0])));
            } catch (IllegalArgumentException malformedSecret) {
                System.out.println("error");
            }
        }
    }

    private static String text(String encoded) {
        return new String(Base64.getDecoder().decode(encoded), UTF_8);
    }
}
