import { issueCredential, type OperatorContext } from '@deedwire/actions';
import type { InterfaceVersion } from '@deedwire/core';
import { firm } from '@deedwire/firm';
import { startInterface, type StartInterfaceOptions } from '@deedwire/graphql-server';

// The compiler checks this file. Nothing runs it.

declare const context: OperatorContext;
declare const options: StartInterfaceOptions;

void startInterface(firm, 'lender', options);
// @ts-expect-error -- an interface that the service does not have
void startInterface(firm, 'vendor', options);
// @ts-expect-error -- an interface that the service does not have
void firm.interfaces.vendor;

const credential = { accountId: '', clientId: null };
void issueCredential(context, { ...credential, abilities: ['READ'] });
// @ts-expect-error -- an ability that does not exist
void issueCredential(context, { ...credential, abilities: ['READ', 'DELETE'] });

const version = { version: '2027-06-01', sunsetOn: null };
void ({ ...version, status: 'preview' } satisfies InterfaceVersion);
// @ts-expect-error -- a status that does not exist
void ({ ...version, status: 'new' } satisfies InterfaceVersion);
