import { deliveryHeaders, requestHeaders } from '@deedwire/core';
import { names } from '@deedwire/firm/names';

export const requestHeaderNames = requestHeaders({ names });
export const deliveryHeaderNames = deliveryHeaders({ names });
