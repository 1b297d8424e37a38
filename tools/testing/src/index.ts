export { installApart } from './apart.ts';
export { compileBlocks } from './compile-blocks.ts';
export { type ConnectProxy, type ConnectProxyOptions, startConnectProxy } from './connect-proxy.ts';
export { cpuMsOf } from './cpu-ms.ts';
export { eventually, untilBlocked } from './eventually.ts';
export { acknowledge, startReceiver, type ReceivedRequest, type Receiver, type Respond } from './fake-receiver.ts';
export {
  createClient,
  credentialHeaders,
  postGraphql,
  type Client,
  type Credential,
  type GraphqlResponse,
} from './graphql-client.ts';
export { createLink, type Link } from './link.ts';
export { listen, type Listening } from './listen.ts';
export { commandsOf, findProgram, readReceiverKitPages, receiverKitBlock } from './page-commands.ts';
export { meanRatio } from './mean-ratio.ts';
export { type Choose, writeRandomDocument } from './random-document.ts';
export { richSchema } from './rich-schema.ts';
export { connect, type Connection, runOnce } from './sql-connection.ts';
export { startTcpProxy, type StatementFault, type TcpProxy } from './tcp-proxy.ts';
export { compileCache, missing, patientTimeouts, seededRandom } from './values.ts';
