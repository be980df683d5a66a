/** Six digits are a code of the authenticator app; anything else is a recovery code. */
export const codeInput = (code: string): { totpCode?: string; recoveryCode?: string } => {
  const text = code.trim();
  if (text === '') return {};
  return /^\d{6}$/.test(text.replaceAll(' ', ''))
    ? { totpCode: text.replaceAll(' ', '') }
    : { recoveryCode: text };
};
