/** Reasons why WhatsApp could not do as it was asked. */
export type WhatsAppErrorCode =
  | 'ALREADY_PAIRED'
  | 'IN_USE'
  | 'NOT_CONNECTED'
  | 'NOT_PAIRED'
  | 'PAIRING_FAILED'
  | 'REFUSED'
  | 'TOO_MANY'
  | 'UNCONFIRMED'
  | 'UPLOAD_FAILED'
  | 'MEDIA_UNKNOWN'
  | 'MEDIA_TOO_LARGE'
  | 'MEDIA_GONE';

/** The reason why WhatsApp did not do something, with a code and words for the owner. */
export class WhatsAppError extends Error {
  override readonly name = 'WhatsAppError';
  readonly code: WhatsAppErrorCode;

  constructor(code: WhatsAppErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
