export declare function post(kind: 'a' | 'b'): void;
