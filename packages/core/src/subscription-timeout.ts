/** How long a receiver may take for its complete response to a delivery, unless its subscription says otherwise. It cannot take less. */
export const timeoutDefaultSeconds = 5;

/** The longest timeout that a subscription can have. */
export const timeoutMaxSeconds = 15;
