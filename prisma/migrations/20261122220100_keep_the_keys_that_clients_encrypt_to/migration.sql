-- The X25519 keys to which clients of protocol version 2 encrypt their requests. A few rows: one a day, kept for 73 hours.
CREATE TABLE "service_keys" (
    "key_id" SMALLINT NOT NULL,
    "public_key" BYTEA NOT NULL,
    "private_key_encrypted" BYTEA NOT NULL,
    "not_before" TIMESTAMPTZ(0) NOT NULL,
    "not_after" TIMESTAMPTZ(0) NOT NULL,
    "replay_epoch_sha256" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT "service_keys_pkey" PRIMARY KEY ("key_id"),
    CONSTRAINT "service_keys_key_id" CHECK ("key_id" BETWEEN 0 AND 255),
    CONSTRAINT "service_keys_public_key" CHECK (octet_length("public_key") = 32),
    CONSTRAINT "service_keys_period" CHECK ("not_before" < "not_after")
);
