import static java.nio.charset.StandardCharsets.UTF_8;
import static java.security.MessageDigest.isEqual;
import static java.util.Base64.getDecoder;
import static java.util.Base64.getEncoder;

import java.security.GeneralSecurityException;
import java.util.List;
import java.util.stream.Stream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Verifies a webhook in plain Java, 11 or later. */
public final class WebhookVerifier {
    /**
     * Returns whether Deedwire signed the request with one of the secrets, within 300 seconds of now.
     *
     * @param id the header {@code webhook-id}, or null
     * @param timestamp the header {@code webhook-timestamp}, or null
     * @param signatures the header {@code webhook-signature}, or null
     * @param body the bytes as received, before any parsing
     * @param secrets one secret, or both during a rotation
     * @param now in Unix seconds: {@code Instant.now().getEpochSecond()}
     * @throws IllegalArgumentException if a secret is malformed
     */
    public static boolean isAuthentic(
            String id, String timestamp, String signatures, byte[] body, List<String> secrets, long now)
            throws GeneralSecurityException {
        // Otherwise text could move between the id, the timestamp and the body.
        if (signatures == null || !(id + "." + timestamp).matches("[^.]+[.][0-9]{10}")) return false;
        boolean authentic = false;
        for (String secret : secrets) {
            byte[] key = getDecoder().decode(secret.replaceFirst("^whsec_", ""));
            if (key.length < 24 || key.length > 64 || !secret.equals("whsec_" + getEncoder().encodeToString(key)))
                throw new IllegalArgumentException("A webhook secret is whsec_ and base64 of 24 to 64 bytes.");
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            mac.update((id + "." + timestamp + ".").getBytes(UTF_8));
            byte[] expected = ("v1," + getEncoder().encodeToString(mac.doFinal(body))).getBytes(UTF_8);
            authentic |= Stream.of(signatures.split(" ")).anyMatch(one -> isEqual(one.getBytes(UTF_8), expected));
        }
        return authentic && Math.abs(now - Long.parseLong(timestamp)) <= 300;
    }
}
