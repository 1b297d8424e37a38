import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.function.UnaryOperator;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Verifies a webhook in plain Java, 17 or later. */
public final class WebhookVerifier {
    private static final String ENTRY = "v[0-9]+[a-z]*,[-!-+./-~]+";

    private WebhookVerifier() {}

    /**
     * Returns whether Deedwire signed the request with one of the secrets within the last {@code tolerance} seconds.
     *
     * @param header returns the value of a request header or null, for example {@code request::getHeader}
     * @param body the bytes as received, before any parsing
     * @param secrets one secret, or both during a rotation
     * @param now in Unix seconds: {@code Instant.now().getEpochSecond()}
     * @param tolerance in seconds: 300
     * @throws IllegalArgumentException if a secret is malformed
     */
    public static boolean isAuthentic(
            UnaryOperator<String> header, byte[] body, List<String> secrets, long now, long tolerance)
            throws GeneralSecurityException {
        List<byte[]> keys = secrets.stream().map(WebhookVerifier::decodeSecret).toList();
        String[] service = values(header, "x-service-webhook-timestamp", "x-service-webhook-signature", "x-service-webhook-signature-next");
        String[] standard = values(header, "webhook-timestamp", "webhook-signature", "webhook-id");
        boolean hasService = !String.join("", service).isEmpty();
        boolean hasStandard = !String.join("", standard).isEmpty();
        String timestamp = hasService ? service[0] : standard[0];
        if (hasStandard && !standard[0].equals(timestamp)) return false;
        // Exactly ten digits: otherwise digits could move between the timestamp and the body.
        if (!timestamp.matches("[0-9]{10}") || Math.abs(now - Long.parseLong(timestamp)) > tolerance) return false;
        // Deedwire signs with both schemes. Each scheme that the request has must verify.
        if (hasService) {
            String signatures = service[1] + " " + service[2];
            List<String> expected = new ArrayList<>();
            for (String secret : secrets)
                expected.add(HexFormat.of().formatHex(mac(secret.getBytes(UTF_8), timestamp + ".", body)));
            if (!signatures.matches("[0-9a-f]{64} ([0-9a-f]{64})?") || !matches(signatures, expected)) return false;
        }
        if (hasStandard) {
            String signatures = standard[1];
            String id = standard[2];
            // Without a dot: otherwise text could move between the id and the body.
            if (!id.matches("[-!-+/-~]{1,256}") || !signatures.matches(ENTRY + "( " + ENTRY + ")*")) return false;
            List<String> expected = new ArrayList<>();
            for (byte[] key : keys)
                expected.add("v1," + Base64.getEncoder().encodeToString(mac(key, id + "." + timestamp + ".", body)));
            return matches(signatures, expected);
        }
        return true;
    }

    private static String[] values(UnaryOperator<String> header, String... names) {
        String[] values = new String[names.length];
        for (int i = 0; i < names.length; i++) {
            String value = header.apply(names[i]);
            values[i] = value == null ? "" : value;
        }
        return values;
    }

    private static byte[] mac(byte[] key, String prefix, byte[] body) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        mac.update(prefix.getBytes(UTF_8));
        return mac.doFinal(body);
    }

    /** Compares in constant time. */
    private static boolean matches(String signatures, List<String> expected) {
        for (String signature : signatures.split(" "))
            for (String mac : expected)
                if (MessageDigest.isEqual(signature.getBytes(UTF_8), mac.getBytes(UTF_8))) return true;
        return false;
    }

    private static byte[] decodeSecret(String secret) {
        byte[] key = Base64.getDecoder().decode(secret.replaceFirst("^whsec_", ""));
        if (secret.equals("whsec_" + Base64.getEncoder().encodeToString(key)) && key.length >= 24 && key.length <= 64)
            return key;
        throw new IllegalArgumentException(
                "A webhook secret is whsec_ and the base64 of 24 to 64 bytes, without white space.");
    }
}
