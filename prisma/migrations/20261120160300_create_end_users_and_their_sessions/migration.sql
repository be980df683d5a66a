-- CreateTable
CREATE TABLE "end_users" (
    "id" UUID NOT NULL,
    "application_id" UUID NOT NULL,
    "username" TEXT NOT NULL,
    "email" TEXT,
    "password_hash" TEXT NOT NULL,
    "license_id" UUID,
    "last_ip" TEXT,
    "last_hwid" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "end_users_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "end_users_username_is_valid" CHECK ("username" ~ '^[a-zA-Z0-9._-]{3,64}$'),
    CONSTRAINT "end_users_password_is_hashed" CHECK ("password_hash" LIKE '$argon2id$%')
);

-- CreateIndex
CREATE UNIQUE INDEX "end_users_application_id_username_key" ON "end_users"("application_id", "username");

-- CreateIndex
CREATE INDEX "end_users_application_id_id_idx" ON "end_users"("application_id", "id");

-- CreateIndex
CREATE INDEX "end_users_license_id_idx" ON "end_users"("license_id");

-- AddForeignKey
ALTER TABLE "end_users" ADD CONSTRAINT "end_users_application_id_fkey" FOREIGN KEY ("application_id") REFERENCES "applications"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "end_users" ADD CONSTRAINT "end_users_license_id_fkey" FOREIGN KEY ("license_id") REFERENCES "licenses"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- CreateTable
CREATE TABLE "end_user_sessions" (
    "id" UUID NOT NULL,
    "end_user_id" UUID NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "ip" TEXT,
    "hwid" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "end_user_sessions_pkey" PRIMARY KEY ("id"),
    CONSTRAINT "end_user_sessions_token_hash_is_sha256" CHECK (octet_length("token_hash") = 32)
);

-- CreateIndex
CREATE UNIQUE INDEX "end_user_sessions_token_hash_key" ON "end_user_sessions"("token_hash");

-- CreateIndex
CREATE INDEX "end_user_sessions_end_user_id_idx" ON "end_user_sessions"("end_user_id");

-- CreateIndex
CREATE INDEX "end_user_sessions_expires_at_idx" ON "end_user_sessions"("expires_at");

-- AddForeignKey
ALTER TABLE "end_user_sessions" ADD CONSTRAINT "end_user_sessions_end_user_id_fkey" FOREIGN KEY ("end_user_id") REFERENCES "end_users"("id") ON DELETE CASCADE ON UPDATE CASCADE;
