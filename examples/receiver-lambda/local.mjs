// Serves the function on this machine as a function URL does, with the body in base64.
import { createServer } from 'node:http';
import { handler } from './index.mjs';

createServer(async (request, response) => {
  const bytes = Buffer.concat(await request.toArray());
  const { statusCode, headers, body } = await handler({
    requestContext: { http: { method: request.method } },
    headers: request.headers,
    body: bytes.toString('base64'),
    isBase64Encoded: true,
  });
  response.writeHead(statusCode, headers).end(body);
}).listen(Number(process.env.PORT ?? '4005'), function () {
  console.log(`Listening on port ${this.address().port}.`);
});
