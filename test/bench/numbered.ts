/** Licenses that are too many to list: the key and the device of each follow from its number. */
export const numberedLicense = (number: number) => {
  const digits = String(number).padStart(9, '0');
  return { licenseKey: `SCALE-${digits}`, hwid: `device-${digits}` };
};
