import * as z from 'zod';
import { decodeBase64Url } from '../base64.ts';

/** Canonical base64url without padding of a fixed number of bytes. */
export const base64UrlOf = (bytes: number) =>
  z
    .string()
    .length(Math.ceil((bytes * 8) / 6))
    .refine((text) => decodeBase64Url(text)?.length === bytes, `must be base64url of ${bytes} bytes`);
