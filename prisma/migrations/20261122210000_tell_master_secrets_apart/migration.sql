-- Tells an instance with another master secret before it makes anything under it: a value that is derived from the secret
-- and leads back to nothing. Null until the first start that writes it, and after a restore.
ALTER TABLE "installation" ADD COLUMN "secret_fingerprint" BYTEA;
