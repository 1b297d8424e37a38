export { type ConnectProxy, type ConnectProxyOptions, startConnectProxy } from './connect-proxy.ts';
export { eventually } from './eventually.ts';
export { findProgram } from './page-commands.ts';
export {
  createClient,
  credentialHeaders,
  postGraphql,
  type Client,
  type Credential,
  type GraphqlError,
  type GraphqlResponse,
  type GraphqlResult,
} from './graphql-client.ts';
export { listen, type Listening } from './listen.ts';
export { missing } from './values.ts';
export { blocksOf, commandsOf, isCommand, type PageBlock } from './page-commands.ts';
export { patientTimeouts } from './values.ts';
export { type Choose, writeRandomDocument } from './random-document.ts';
export { startRawReceiver, type RawReceiver } from './raw-receiver.ts';
export { readReceiverKitPages, receiverKitBlock } from './page-commands.ts';
export { richSchema } from './rich-schema.ts';
export {
  acknowledge,
  echoToken,
  startReceiver,
  type ReceivedRequest,
  type Receiver,
  type ReceiverOptions,
  type Respond,
} from './fake-receiver.ts';
export { seededRandom } from './values.ts';
export { connect, type Connection } from './sql-connection.ts';
export { startTcpProxy, type StatementFault, type TcpProxy } from './tcp-proxy.ts';
export { unknownGids } from './values.ts';
export { untilBlocked } from './eventually.ts';
