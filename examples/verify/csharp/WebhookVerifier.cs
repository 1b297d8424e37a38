using System;
using System.Collections.Generic;
using System.Linq;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;

/// <summary>Verifies a webhook in plain C#, on .NET Core 2.1 or later.</summary>
public static class WebhookVerifier
{
    /// <summary>Returns whether Deedwire signed the request with one of the secrets, within 300 seconds of now.</summary>
    /// <param name="id">The header webhook-id, or null.</param>
    /// <param name="timestamp">The header webhook-timestamp, or null.</param>
    /// <param name="signatures">The header webhook-signature, or null.</param>
    /// <param name="body">The bytes as received, before any parsing.</param>
    /// <param name="secrets">One secret, or both during a rotation.</param>
    /// <param name="now">In Unix seconds: <c>DateTimeOffset.UtcNow.ToUnixTimeSeconds()</c>.</param>
    /// <exception cref="FormatException">A secret is malformed.</exception>
    public static bool IsAuthentic(
        string id, string timestamp, string signatures, byte[] body, IEnumerable<string> secrets, long now)
    {
        // Otherwise text could move between the id, the timestamp and the body.
        if (!Regex.IsMatch($"{id}.{timestamp}", @"^[^.]+\.[0-9]{10}\z")) return false;
        var content = Encoding.UTF8.GetBytes($"{id}.{timestamp}.").Concat(body).ToArray();
        var authentic = false;
        foreach (var secret in secrets)
        {
            var key = Convert.FromBase64String(secret.Replace("whsec_", ""));
            if (key.Length < 24 || key.Length > 64 || "whsec_" + Convert.ToBase64String(key) != secret)
                throw new FormatException("A webhook secret is whsec_ and base64 of 24 to 64 bytes.");
            var mac = new HMACSHA256(key).ComputeHash(content);
            var expected = Encoding.UTF8.GetBytes("v1," + Convert.ToBase64String(mac));
            foreach (var signature in (signatures ?? "").Split(' '))
                authentic |= CryptographicOperations.FixedTimeEquals(Encoding.UTF8.GetBytes(signature), expected);
        }
        return authentic && Math.Abs(now - long.Parse(timestamp)) <= 300;
    }
}
