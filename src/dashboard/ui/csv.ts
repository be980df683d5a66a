/** Texts from elsewhere could begin like a formula, which spreadsheets would run; an apostrophe makes them texts. */
export const plainCell = (text: string): string => (/^[=+\-@\t\r]/.test(text) ? `'${text}` : text);

const cellOf = (value: string | number | null | undefined): string => {
  const text = String(value ?? '');
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** A line of a CSV file (RFC 4180). */
export const csvLine = (values: readonly (string | number | null | undefined)[]): string =>
  `${values.map(cellOf).join(',')}\r\n`;
