/** Why a voice note has no words, or an answer no voice. The message is the rest of a sentence, for the chat. */
export class VoiceError extends Error {
  override readonly name = 'VoiceError';
  readonly code: VoiceErrorCode;

  constructor(code: VoiceErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.code = code;
  }
}

export type VoiceErrorCode =
  | 'SILENT'
  | 'TOO_LONG'
  | 'NO_AUDIO'
  | 'DAY_IS_USED_UP'
  | 'KEY_REFUSED'
  | 'BUSY'
  | 'UNREACHABLE'
  | 'REFUSED'
  | 'TIMEOUT'
  | 'GARBAGE'
  | 'PROGRAM_MISSING'
  | 'PROGRAM_FAILED';
