import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { allHeaders, type HttpResponse } from './http-response.ts';
import { STATUS_CODES } from './node-http.ts';

/**
 * How much of an unread body is still read, and for how long, after the response. A client that is still sending would
 * lose the response if the connection were reset at once. One that sends on after this is cut off.
 */
const lingerMs = 2000;
const lingerBytes = 64 * 1024;

/** Sends a response. If it leaves a body unread, it must have the header `Connection: close`. */
export function sendResponse(response: ServerResponse, sent: HttpResponse, requestId: string): void {
  if (response.destroyed) return;
  const { req: request } = response;
  const isBodyUnread = !request.complete;
  const bodyBytes = Buffer.byteLength(sent.body);
  response.writeHead(sent.status, allHeaders(sent, bodyBytes, requestId));
  // With a byte for each character, both encodings give the same bytes, but Node copies latin1 without encoding it.
  const encoding = bodyBytes === sent.body.length ? 'latin1' : 'utf8';
  if (isBodyUnread) {
    // The client has the whole response from here on. Node closes the connection when the response ends.
    response.write(sent.body, encoding);
    discardBody(request, () => response.end());
  } else {
    response.end(sent.body, encoding);
  }
}

function discardBody(request: IncomingMessage, done: () => void): void {
  let bytes = 0;
  const timer = setTimeout(done, lingerMs);
  const finish = () => {
    clearTimeout(timer);
    done();
  };
  request.once('end', finish).once('close', finish).on('error', finish);
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > lingerBytes) request.pause(); // the client waits until the connection closes
  });
  request.resume(); // a handler that stopped reading has paused it
}

/** Sends a response on a connection whose request Node could not read, and closes the connection. */
export function sendOnSocket(socket: Duplex, sent: HttpResponse, requestId: string): void {
  const headers = allHeaders(sent, Buffer.byteLength(sent.body), requestId);
  headers.push('Connection', 'close', 'Date', new Date().toUTCString());
  let head = `HTTP/1.1 ${sent.status} ${STATUS_CODES[sent.status] ?? ''}\r\n`;
  for (let index = 0; index < headers.length; index += 2) head += `${headers[index]}: ${headers[index + 1]}\r\n`;
  socket.end(`${head}\r\n${sent.body.toString()}`);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
}
