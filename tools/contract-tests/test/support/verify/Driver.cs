using System;
using System.Linq;
using System.Text;

public static class Driver
{
    public static void Main()
    {
        for (var line = Console.ReadLine(); line != null; line = Console.ReadLine())
        {
            var fields = line.Split('\t');
            var headers = fields[3].Split(',').Where(header => header != "").Select(header => header.Split(':'))
                .ToDictionary(parts => parts[0], parts => Text(parts[1]));
            Func<string, string> named = name => headers.TryGetValue(name, out var value) ? value : null;
            var secrets = fields[2].Split(',').Select(Text).ToList();
            try
            {
                Console.WriteLine(WebhookVerifier.IsAuthentic(
                    named("webhook-id"), named("webhook-timestamp"), named("webhook-signature"),
                    Convert.FromBase64String(fields[1]), secrets, long.Parse(fields[0])));
            }
            catch (FormatException)
            {
                Console.WriteLine("error");
            }
        }
    }

    static string Text(string encoded) => Encoding.UTF8.GetString(Convert.FromBase64String(encoded));
}
