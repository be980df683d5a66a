-- CreateEnum
CREATE TYPE "KeyCreationMode" AS ENUM ('default', 'private');

-- CreateTable
CREATE TABLE "developers" (
    "id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "email_normalized" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "password_hash" TEXT NOT NULL,
    "session_version" INTEGER NOT NULL DEFAULT 0,
    "license_mask" TEXT,
    "key_creation_mode" "KeyCreationMode" NOT NULL DEFAULT 'default',
    "vault_salt_b64" TEXT,
    "vault_check_b64" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "developers_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "developers_email_not_empty" CHECK ("email" <> '' AND "email_normalized" <> ''),
    CONSTRAINT "developers_password_is_hashed" CHECK ("password_hash" LIKE '$argon2id$%'),
    CONSTRAINT "developers_session_version_not_negative" CHECK ("session_version" >= 0),
    CONSTRAINT "developers_license_mask_not_empty" CHECK ("license_mask" <> '')
);

-- CreateIndex
CREATE UNIQUE INDEX "developers_email_normalized_key" ON "developers"("email_normalized");

-- CreateTable
CREATE TABLE "api_keys" (
    "id" UUID NOT NULL,
    "developer_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "key_hash" BYTEA NOT NULL,
    "key_prefix" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "api_keys_key_hash_is_sha256" CHECK (octet_length("key_hash") = 32)
);

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_key_hash_key" ON "api_keys"("key_hash");

-- CreateIndex
CREATE INDEX "api_keys_developer_id_id_idx" ON "api_keys"("developer_id", "id");

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_developer_id_fkey" FOREIGN KEY ("developer_id") REFERENCES "developers"("id") ON DELETE CASCADE ON UPDATE CASCADE;
